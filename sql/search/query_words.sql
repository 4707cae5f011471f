-- Under every text configuration in scope, not only under the one of the question's own language, for that is a guess.
-- Only that one says which words are stop words: elsewhere they would be rare, and count for more than all others.
-- Without its accents a word is asked for, too, where some text writes it so: else it would only count twice. XQuAD es, by
-- words alone, nDCG@10: asked for always 96.2, so 96.6, as before there were accents 96.6.
create or replace function lexichord.query_words(query text, documents bigint[] default null, own regconfig default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    configs constant regconfig[] := lexichord.text_configs(documents);
    form constant text := lexichord.split_runs(lexichord.normal_form(query));
    words text := concat_ws(' ', lexichord.keyword_text(form), lexichord.joined_words(form));
begin
    if cardinality(configs) = 1 and lexichord.accented_words(words) is null then
        return to_tsvector(configs[1], words);
    end if;
    if cardinality(configs) > 1 then
        own := coalesce(own, lexichord.question_config(query, documents));
        select coalesce(string_agg(w.word, ' ' order by w.place), '') into words
        from regexp_split_to_table(words, '\s+') with ordinality as w (word, place)
        where to_tsvector(own, w.word) <> ''::tsvector;
    end if;
    return (
        with asked as (
            select u.lexeme, max(cardinality(u.positions)) as times
            from unnest(configs) as c (config), unnest(to_tsvector(c.config, words)) as u
            group by u.lexeme
        ), folded as (
            select f.folded as lexeme, max(f.times) as times
            from unnest(configs) as c (config), lexichord.folded_lexemes(words, c.config) as f
            group by f.folded
        )
        select lexichord.weighted_terms(coalesce(jsonb_object_agg(l.lexeme, least(l.times, 255)), '{}'))
        from (select a.lexeme, sum(a.times) as times from (table asked union all table folded) as a group by a.lexeme) as l);
end $$;
comment on function lexichord.query_words(text, bigint[], regconfig) is
'The lexemes of a query''s words under every text configuration of documents, null = of all: each as often as under the one where it occurs most. own = the configuration of the query''s language, null = told by its words. Internal. Readers may call it.';
