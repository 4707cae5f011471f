create or replace function lexichord.index_faults() returns table (kind text, amount bigint)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunks that keyword searches miss', count(*)
    from chunk c where c.lexemes <> ''::tsvector and not exists (select from keyword k where k.chunk_id = c.id)
$$;
comment on function lexichord.index_faults() is
'The part of count_faults that concerns what searches compare. Internal. Readers may call it.';
