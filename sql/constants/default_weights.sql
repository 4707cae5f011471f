-- Of the space that the database is bound to, so that a change of models changes it, too.
-- plpgsql keeps its plan for the session, where an SQL function is planned by every search.
create or replace function lexichord.default_weights() returns double precision[]
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    dense constant double precision := (
        select lexichord.dense_share(concat_ws('/', s.provider, s.model, s.dimension)) from embedding_space s);
begin
    return array[dense, round((1 - dense)::numeric, 2)];
end $$;
comment on function lexichord.default_weights() is
'How much meaning and words count in a search by default, {dense,keyword}, by the model of the vectors. Readers may call it.';
