-- pg_catalog comes first on every function's search path: a table of ours could have a name of its, but must not hide it.
alter function lexichord_data.add_terms(text[], bigint[]) set search_path = pg_catalog, lexichord_data, pg_temp;
alter function lexichord_data.count_chunks() set search_path = pg_catalog, lexichord_data, pg_temp;
alter function lexichord_data.count_document() set search_path = pg_catalog, lexichord_data, pg_temp;
alter function lexichord_data.forget_contexts() set search_path = pg_catalog, lexichord_data, pg_temp;
