-- What is stored joins what hyphens part; what blanks part is told by what documents have. The other form is asked for, too,
-- where it is at least as usual as the one that was typed: for "data base" also database, for "webhook" also web and hook
-- where these stand side by side. A form that is rarer would only lift the few texts that have it. A word that at most one
-- chunk holds is asked for by its parts wherever they stand, as German's compounds are written apart: by words alone,
-- nDCG@10, XQuAD de 94.9 -> 95.4, en, es, contracts, policies, code and documentation by less than .1.
create or replace function lexichord.compound_lexemes(words text, text_config regconfig, documents bigint[] default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
-- Else the planner hashes all terms of the database for a few words' parts: 5 ms of 100k chunks.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off as $$
declare
    least_letters constant integer := 2;  -- of a word's part; one of a letter may begin it: e mail
    part_letters constant integer := 4;  -- of the parts of a word that is hardly there
    depth constant integer := 50;  -- so many chunks at most are compared
    most constant integer := 200;  -- words; of a pasted text the first: 15,000 took 4 seconds
    listed constant text[] := (regexp_split_to_array(btrim(words), '\s+'))[:most];
    own constant text[] := tsvector_to_array(to_tsvector(text_config, words));
begin
    return (
        with pair as (
            select w.word, w.next
            from (select s.word, lead(s.word) over (order by s.place) as next from unnest(listed) with ordinality as s (word, place)) as w
            where least(char_length(w.word), char_length(w.next)) >= least_letters and w.word || w.next !~ '[^[:alpha:]]'
        ), chance as (
            -- Of two words that so many chunks hold each, how many hold them side by side were all words in any order. Who writes two
            -- so has them from texts that do so at least as often: where that is more than have the one word, none are read for it.
            -- 100k chunks of contracts: 10.2 -> 2.5 ms a question; 2,252 questions of eleven kinds on 11,452 chunks: each as before.
            select case when documents is null or not lexichord.is_narrow(documents) then 1 else 0 end / nullif(n.token_count, 0)::float8 as of_each
            from corpus_statistics n
        ), cut as materialized (  -- each word that few chunks hold, at each place
            select s.word, u.lexeme, coalesce(t.df, 0) as df, left(s.word, n) as first, substr(s.word, n + 1) as second,
                   least(n, char_length(s.word) - n) as letters
            from (select distinct unnest(listed)) as s (word) cross join unnest(to_tsvector(text_config, s.word)) as u
            left join term_statistics t on t.lexeme = u.lexeme collate "C"
            cross join generate_series(1, char_length(s.word) - least_letters) as n
            where s.word !~ '[^[:alpha:]]' and coalesce(t.df, 0) <= depth
        ), split as materialized (
            select c.word, c.lexeme, c.df, a.lexeme as first, b.lexeme as second, c.letters, least(d.df, e.df) as rarer
            from cut c, unnest(to_tsvector(text_config, c.first)) as a join term_statistics d on d.lexeme = a.lexeme collate "C",
                 unnest(to_tsvector(text_config, c.second)) as b join term_statistics e on e.lexeme = b.lexeme collate "C"
            where least(d.df, e.df) >= case when documents is null then greatest(c.df, 1) else 1 end
        ), parts as (  -- Mietvertrag
            select distinct on (s.word) array[s.first, s.second] as asked
            from split s where s.df <= 1 and s.letters >= part_letters order by s.word, s.rarer desc
        ), form as (
            select array[j.lexeme] as asked, a.lexeme as first, b.lexeme as second,
                   p.word || ' ' || p.next as phrase, j.lexeme, t.df, true as is_one,
                   t.df < depth and coalesce((select d.df from term_statistics d where d.lexeme = a.lexeme collate "C")
                       * (select c.of_each from chance c) * (select d.df from term_statistics d where d.lexeme = b.lexeme collate "C") > greatest(t.df, depth / 2), false) as is_by_chance
            from pair p left join lateral unnest(to_tsvector(text_config, p.next)) as b on true, unnest(to_tsvector(text_config, p.word || p.next)) as j
            join term_statistics t on t.lexeme = j.lexeme collate "C",
                 unnest(to_tsvector(text_config, p.word)) as a
            where t.df > 0 and j.lexeme <> all(own)
            union all
            (select distinct on (s.word) array[s.first, s.second], s.first, s.second, null, s.lexeme, s.df, false, false
             from split s order by s.word, s.rarer desc)
            union all
            select array[p.lexeme], null, null, p.lexeme, c.lexeme, c.df, false, false
            from cut c join term_statistics p on p.lexeme = c.first || ' ' || c.second collate "C" where p.df > 0
        ), counted as (
            select f.asked, f.is_one, f.second, c.as_one,
                   case when c.as_one >= depth then 0  -- no other form can be more usual
                        when f.is_by_chance then depth
                        when f.second is null then lexichord.holding_chunks(f.phrase, depth, documents)
                        else lexichord.adjacent_chunks(f.first, f.second, depth, greatest(c.as_one + f.is_one::integer, 1), documents) end as as_two
            from form f cross join lateral (
                select case when documents is null or f.is_by_chance then f.df
                            else lexichord.holding_chunks(f.lexeme, depth, documents) end as as_one offset 0) as c
        )
        -- Of a particle nothing is asked for: the word that it makes counts for both.
        select coalesce(string_agg(distinct format(case when a.is_one and a.second is null then '''%s'':1,2' else '''%s'':1' end, a.lexeme), ' '), '')::tsvector
        from (select u.lexeme, c.is_one, c.second from counted c, unnest(c.asked) as u (lexeme)
              where case when c.is_one then c.as_one >= greatest(c.as_two, 1) else c.as_two >= greatest(c.as_one, 1) end
              union
              select u.lexeme, false, null from parts p, unnest(p.asked) as u (lexeme)) as a
        where a.lexeme <> all(own));
end $$;
comment on function lexichord.compound_lexemes(text, regconfig, bigint[]) is
'Of a query''s words, as keyword_text gives them: two neighbours as the one word that documents have, a word as the two that stand side by side there, where that form is at least as usual. Readers may call it.';
