-- Whoever reads it makes it wait, and others wait behind: then the next time will do. A table that is gone, as where rows were
-- copied without what makes tables, keeps no other from being made.
create or replace function lexichord.drop_segment(number integer) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    execute format('lock table %1$s, %1$s_term in access exclusive mode nowait', lexichord.segment_name(number));
    execute format('drop table %1$s, %1$s_term', lexichord.segment_name(number));
    delete from keyword_segment s where s.number = drop_segment.number;
exception
    when lock_not_available then
        null;
    when undefined_table then
        execute format('drop table if exists %1$s, %1$s_term', lexichord.segment_name(number));
        delete from keyword_segment s where s.number = drop_segment.number;
end $$;
comment on function lexichord.drop_segment(integer) is 'Deletes a segment of the keyword index, unless somebody reads it. Internal.';
