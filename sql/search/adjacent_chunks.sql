-- Whether two words are written in two more often than in one: the chunks that hold most of both are looked at, so many that
-- there is enough where a third of them has the two side by side. Where an index proposes some, without scoring them, or what
-- waits for being sealed, which comes last.
create or replace function lexichord.adjacent_chunks(
    first text, second text, depth integer, enough bigint, documents bigint[] default null) returns bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    pair constant tsvector := lexichord.exact_lexemes(array[first, second]);
    looked_at constant integer := least(greatest(3 * enough, 10), depth);
    side_by_side tsquery;
    proposals bigint[];
begin
    if coalesce(first, '') = '' or coalesce(second, '') = '' then
        return 0;
    end if;
    side_by_side := format('''%s'' <-> ''%s''', replace(replace(first, '\', '\\'), '''', ''''''),
                           replace(replace(second, '\', '\\'), '''', ''''''));
    proposals := coalesce((lexichord.proposed_chunks(pair, looked_at, documents))[:5 * looked_at],
                          array(select k.chunk_id from lexichord.exact_term_candidates(pair, depth, documents) as k));
    return (select count(*) from chunk c
            where c.id = any(proposals) and (documents is null or c.document_id = any(documents)) and c.lexemes @@ side_by_side);
end $$;
comment on function lexichord.adjacent_chunks(text, text, integer, bigint, bigint[]) is
'In how many chunks two lexemes stand side by side, of those best for both: up to the depth, or fewer where enough of them would be found so. Internal. Readers may call it.';
