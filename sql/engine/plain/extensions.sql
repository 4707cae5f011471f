-- Idempotent. vector has the HNSW index and the sparse vectors. What is missing is made where a `create extension` by
-- whoever runs init would make it: @extschema@ is the first schema of their own search path.
create extension if not exists vector schema @extschema@;
