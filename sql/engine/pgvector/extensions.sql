-- Idempotent. vector has the HNSW index, pg_textsearch the BM25 index. What is missing is made where a
-- `create extension` by whoever runs init would make it: @extschema@ is the first schema of their own search path.
create extension if not exists vector schema @extschema@;
create extension if not exists pg_textsearch schema @extschema@;

do $$
declare
    installed text := (select extversion from pg_extension where extname = 'vector');
begin
    if string_to_array(installed, '.')::int[] < '{0,8}' then
        raise exception 'the engine pgvector needs vector 0.8 or later, for filtered searches; found: %', installed
            using errcode = 'feature_not_supported', hint = 'Install it and run: alter extension vector update;';
    end if;
end $$;
