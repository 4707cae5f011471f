create or replace function lexichord.check_search(
    query text, query_vector @extschema:vector@.halfvec, query_space text, k integer, depth integer, fusion text, weights double precision[]
) returns boolean
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    most_words constant integer := 1024;  -- each is looked up: 1,600 held a backend for a minute
    words integer := case when char_length(query) > most_words then length(lexichord.word_lexemes(query)) end;
    problem text := case
        when query !~ '\S' or coalesce(query, query_vector::text) is null then 'the query is empty'
        when words > most_words then format('the query has %s distinct words, at most %s: shorten it', words, most_words)
        when depth is null or depth not between lexichord.default_depth() and 10000
            then format('depth must be between %s and 10000', lexichord.default_depth())
        when k is null or k < 1 then 'k must be at least 1'
        when k > depth then format('k (%s) is more than the %s candidates of a channel: raise depth as well', k, depth)
        when fusion is null or fusion not in ('zscore', 'rrf') then 'fusion must be zscore or rrf'
        when not lexichord.are_weights(weights) then 'weights must be two numbers, {dense,keyword}, not negative and not both 0'
    end;
    bound text;
    dimension integer;
begin
    if problem is not null then
        raise exception '%', problem using errcode = 'invalid_parameter_value';
    end if;
    if query_vector is null then
        return true;
    end if;
    select b.space, b.dimension into bound, dimension from lexichord.bound_space() as b;
    if query_space <> bound or @extschema:vector@.vector_dims(query_vector) <> dimension then
        raise exception 'the query''s vector is of %, the database''s vectors are of %',
            coalesce(query_space, @extschema:vector@.vector_dims(query_vector) || ' dimensions'), bound
            using errcode = 'data_exception', hint = 'Embed the query with the database''s own model.';
    end if;
    return true;
end $$;
comment on function lexichord.check_search(text, @extschema:vector@.halfvec, text, integer, integer, text, double precision[]) is
'True, or an error if the arguments of a search do not make sense, or if the vector is not of the space (provider/model/dimension) that the database is bound to. Internal. Readers may call it.';
