-- Idempotent: what this engine's indexes are built by.

-- 100k vectors of 384, milliseconds and recall@100, everywhere / within a tenth of the documents: without lists
-- 3.7 .999 / 7.3 .999; 100 lists, 25 probed 1.6 .993 / 2.8 .996; 200, 25 1.2 .995 / 2.3 .992; 200, 50 1.3 .995 / 2.5 .996;
-- 400, 50 .8 .997 / 1.5 .993. Above that a sixteenth, and fewer lists a chunk, as vchord's documentation advises.
create or replace function lexichord_data.dense_storage(chunks bigint) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select case when chunks >= 50000 then format(
        E'with (options = $o$residual_quantization = true\n[build.internal]\nlists = [%s]\nspherical_centroids = true$o$, probes = ''%s'')',
        lists, greatest(lists / 16, 50)) else '' end
    from (select least(chunks / 500, (4 * sqrt(chunks))::bigint)) as n (lists)
$$;

-- The probes that the vector index was made for, and its lists, which are also what probes all of them.
create or replace function lexichord_data.dense_probes(out probes text, out lists text)
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(max(substring(o from '^probes=(.*)')), max(l.lists), ''), coalesce(max(l.lists), '')
    from pg_class c, unnest(c.reloptions) as o, lateral (select substring(o from 'lists *= *\[([^]]+)\]')) as l (lists)
    where c.oid = to_regclass('lexichord_data.chunk_dense')
$$;
