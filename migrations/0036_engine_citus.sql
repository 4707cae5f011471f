-- The engine `citus`: what searches compare is spread over the workers of a Citus cluster.
alter table lexichord_data.configuration drop constraint configuration_engine_check,
    add constraint configuration_engine_check check (engine in ('vectorchord', 'textsearch', 'plain', 'citus'));
