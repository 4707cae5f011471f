-- Idempotent. vector has the HNSW index and the sparse vectors. What is missing is made where a `create extension` by
-- whoever runs init would make it: @extschema@ is the first schema of their own search path.
create extension if not exists vector schema @extschema@;

do $$
declare
    present text := (select extversion from pg_extension where extname = 'vector');
begin
    if string_to_array(present, '.')::int[] < '{0,8}' then
        raise exception 'the engine plain needs vector 0.8 or later, for filtered searches and sparse vectors; found: %', present
            using errcode = 'feature_not_supported', hint = 'Install it and run: alter extension vector update;';
    end if;
end $$;
