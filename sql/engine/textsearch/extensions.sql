-- Idempotent. vector has the HNSW index, pg_textsearch the BM25 index. What is missing is made where a
-- `create extension` by whoever runs init would make it: @extschema@ is the first schema of their own search path.
create extension if not exists vector schema @extschema@;
create extension if not exists pg_textsearch schema @extschema@;

do $$
declare
    present text := (select extversion from pg_extension where extname = 'vector');
begin
    if string_to_array(present, '.')::int[] < '{0,8}' then
        raise exception 'the engine textsearch needs vector 0.8 or later, for filtered searches and sparse vectors; found: %', present
            using errcode = 'feature_not_supported', hint = 'Install it and run: alter extension vector update;';
    end if;
    present := (select extversion from pg_extension where extname = 'pg_textsearch');
    if string_to_array(regexp_replace(present, '-.*', ''), '.')::int[] < '{1,4}' then
        raise exception 'the engine textsearch needs pg_textsearch 1.4 or later, earlier ones lose hits; found: %', present
            using errcode = 'feature_not_supported',
                  hint = 'Install it and run: alter extension pg_textsearch update; or take the engine plain, which needs pgvector alone.';
    end if;
end $$;
