create or replace function lexichord.record_comparison(comparison jsonb) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update reembedding r set comparison = record_comparison.comparison where r.state <> 'dropped'
$$;
comment on function lexichord.record_comparison(jsonb) is
'Keeps what a sample of queries made of the old and the new vectors with the change of space that is under way.';
