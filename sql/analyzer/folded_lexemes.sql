-- Of a stop word there is no lexeme to fold. Positions pair them: both texts have the same words in the same places.
create or replace function lexichord.folded_lexemes(words text, text_config regconfig) returns table (lexeme text, folded text, times integer)
language plpgsql stable strict parallel safe rows 10 set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    accented constant text := lexichord.accented_words(words);
begin
    return query
    select l.accented, l.folded, l.times
    from (select a.lexeme as accented, f.lexeme as folded, count(*)::integer as times
          from unnest(to_tsvector(text_config, accented)) as a, unnest(a.positions) as a_place,
               unnest(to_tsvector(text_config, lexichord.fold_accents(accented))) as f, unnest(f.positions) as f_place
          where a_place = f_place and a.lexeme <> f.lexeme
          group by a.lexeme, f.lexeme) as l
    -- A look-up each: as a join it would hash all terms of the database.
    where (select s.df from term_statistics s where s.lexeme = l.folded collate "C")
        > coalesce((select e.df from term_statistics e where e.lexeme = l.accented collate "C"), 0);
end $$;
comment on function lexichord.folded_lexemes(text, regconfig) is
'Of words in small letters those with accents that more chunks hold without: their lexeme, the other one, and how often they occur. Internal. Readers may call it.';
