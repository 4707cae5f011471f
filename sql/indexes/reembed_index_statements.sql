-- chunk_other_missing finds what is to be filled, and its condition makes the filling updates write index entries:
-- pg_textsearch 0.6.1 builds no index that finds heap-only updated rows.
create or replace function lexichord.reembed_index_statements(filled boolean) returns setof text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with wanted (name, definition) as (
        select 'chunk_other_missing', 'chunk using btree (id) where other_embedding is null'
        union all
        select o.index_name || '_other', o.definition from lexichord.vector_index('other_embedding') as o, corpus_statistics n
        where filled and n.chunk_count > 0
    ), existing as (
        select w.*, (select i.indisvalid from pg_index i where i.indexrelid = to_regclass('lexichord_data.' || w.name)) as is_valid
        from wanted w
    )
    select s.statement
    from existing e, lateral (values
        (1, 'drop index concurrently lexichord_data.' || e.name, e.is_valid = false),
        (2, format('create index concurrently %I on lexichord_data.%s', e.name, e.definition), e.is_valid is distinct from true)
    ) as s (place, statement, is_due)
    where s.is_due order by e.name desc, s.place
$$;
comment on function lexichord.reembed_index_statements(boolean) is
'The statements still to be run, one by one and outside a transaction, for the indexes that a change of the embedding space needs before (false) or after (true) its vectors are filled in. They block neither readers nor writers.';
