-- The language of a question by its words alone: its own stop words are the ones that are dropped most. Where that tells
-- nothing, as of a name, it is the language of which the words are known.
create or replace function lexichord.question_config(question text, documents bigint[] default null) returns regconfig
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    configs regconfig[] := lexichord.text_configs(documents);
begin
    if cardinality(configs) = 1 then
        return configs[1];
    end if;
    return (
        select c.config
        from unnest(configs) with ordinality as c (config, place),
        lateral (
            select coalesce(sum(cardinality(u.positions)), 0) as words, count(t.id) as known
            from unnest(lexichord.lexemes(left(question, 4000), c.config)) as u
            left join term_statistics t on t.lexeme = u.lexeme collate "C" and t.df > 0
        ) as l
        order by l.words, l.known desc, c.place
        limit 1);
end $$;
comment on function lexichord.question_config(text, bigint[]) is
'Of the text configurations of documents, null = of all, the one that is of a question''s language.';
