-- Among the chunks that hold most of both words: how often they are written in two, as against in one.
create or replace function lexichord.adjacent_chunks(first text, second text, depth integer, documents bigint[] default null) returns bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    pair constant tsvector := lexichord.exact_lexemes(array[first, second]);
    side_by_side constant text := '''%s'' <-> ''%s''';
    -- As for a list of ten: how many is compared, not which. 100k chunks, two frequent words: 49 and 50 found of 50, in 1.5 ms
    -- where a list of 50 takes 6.
    roughly constant integer := 10;
begin
    if coalesce(first, '') = '' or coalesce(second, '') = '' then
        return 0;
    end if;
    return (
        select count(*)
        from lexichord.exact_term_candidates(pair, depth, documents, lexichord.proposed_chunks(pair, roughly, documents)) as k
        join chunk c on c.id = k.chunk_id
        where c.lexemes @@ format(side_by_side, replace(replace(first, '\', '\\'), '''', ''''''),
                                  replace(replace(second, '\', '\\'), '''', ''''''))::tsquery);
end $$;
comment on function lexichord.adjacent_chunks(text, text, integer, bigint[]) is
'In how many chunks two lexemes stand side by side, among the depth best for both. Internal. Readers may call it.';
