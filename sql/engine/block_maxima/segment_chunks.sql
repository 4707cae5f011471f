create or replace function lexichord.segment_chunks(segments integer[]) returns bigint[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(array_agg(distinct i), '{}') from keyword_block b, unnest(b.chunk_ids) as i where b.segment = any(segments)
$$;
comment on function lexichord.segment_chunks(integer[]) is 'The chunks of segments of the keyword index, deleted ones among them. Internal.';
