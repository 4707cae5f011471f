-- plpgsql, for its plan is kept: see keyword_weights.
create or replace function lexichord.read_hits(chunk_ids bigint[]) returns setof lexichord.located_chunk
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select c.id, c.document_id, s.name, d.uri, d.title, c.heading, c.char_start, c.char_end, c.page, c.content, c.context
    from unnest(chunk_ids) with ordinality as wanted (id, place)
    join chunk c on c.id = wanted.id
    join document d on d.id = c.document_id
    join dataset s on s.id = c.dataset_id
    order by wanted.place;
end $$;
comment on function lexichord.read_hits(bigint[]) is
'Chunks with what stands around them in every result of a search, in the order given. Readers may call it.';
