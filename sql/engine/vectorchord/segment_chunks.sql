create or replace function lexichord.segment_chunks(segments integer[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    segment integer;
    own bigint[];
    chunks bigint[] := '{}';
begin
    foreach segment in array segments loop
        execute format('select array_agg(chunk_id) from (select chunk_id from %1$s union select unnest(chunk_ids) from %1$s_term) as c',
                       lexichord.segment_name(segment)) into own;
        chunks := chunks || own;
    end loop;
    return chunks;
end $$;
comment on function lexichord.segment_chunks(integer[]) is 'The chunks of segments of the keyword index, deleted ones among them. Internal.';
