-- Among the chunks that hold most of both words: how often they are written in two, as against in one.
create or replace function lexichord.adjacent_chunks(first text, second text, depth integer, documents bigint[] default null) returns bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
begin
    return (
        select count(*)
        from lexichord.term_candidates(format('''%s'':1 ''%s'':1', first, second)::tsvector, depth, documents) as k
        join chunk c on c.id = k.chunk_id
        where c.lexemes @@ format('''%s'' <-> ''%s''', first, second)::tsquery);
end $$;
comment on function lexichord.adjacent_chunks(text, text, integer, bigint[]) is
'In how many chunks two lexemes of letters stand side by side, among the depth best for both.';
