-- Under every text configuration in scope, not only under the one of the question's own language, for that is a guess.
-- Only that one says which words are stop words: elsewhere they would be rare, and count for more than all others.
-- keyword_text is asked once: of its own result it would part section numbers again, and count their parts twice.
create or replace function lexichord.query_lexemes(query text, documents bigint[] default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    configs regconfig[] := lexichord.text_configs(documents);
    own regconfig;
    telling text;
begin
    if cardinality(configs) = 1 then
        return lexichord.lexemes(query, configs[1]);
    end if;
    own := lexichord.question_config(query, documents);
    select string_agg(w.word, ' ' order by w.place) into telling
    from regexp_split_to_table(lexichord.keyword_text(query), '\s+') with ordinality as w (word, place)
    where to_tsvector(own, w.word) <> ''::tsvector;
    return (
        select lexichord.weighted_terms(coalesce(jsonb_object_agg(l.lexeme, l.times), '{}'))
        from (select u.lexeme, max(cardinality(u.positions)) as times
              from unnest(configs) as c (config), unnest(to_tsvector(c.config, telling)) as u
              group by u.lexeme) as l);
end $$;
comment on function lexichord.query_lexemes(text, bigint[]) is
'The lexemes of a query under every text configuration of documents, null = of all: each as often as under the one where it occurs most.';
