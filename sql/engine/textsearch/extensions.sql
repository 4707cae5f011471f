-- Idempotent. vector has the HNSW index, pg_textsearch the BM25 index. What is missing is made where a
-- `create extension` by whoever runs init would make it: @extschema@ is the first schema of their own search path.
create extension if not exists vector schema @extschema@;
create extension if not exists pg_textsearch schema @extschema@;
