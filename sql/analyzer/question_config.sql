-- The language of a question by its words alone: its own stop words are the ones that are dropped most. Where that tells
-- nothing, as of a name, it is the language of which the words are known.
create or replace function lexichord.question_config(question text, documents bigint[] default null) returns regconfig
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    configs regconfig[] := lexichord.text_configs(documents);
    telling text;
begin
    if cardinality(configs) = 1 then
        return configs[1];
    end if;
    telling := lexichord.keyword_text(lexichord.split_runs(lexichord.normal_form(left(question, 4000))));
    select array_agg(l.config order by l.place) into configs
    from (select c.config, c.place, n.words, min(n.words) over () as least
          from unnest(configs) with ordinality as c (config, place),
          lateral (select coalesce(sum(cardinality(u.positions)), 0) as words
                   from unnest(to_tsvector(c.config, telling)) as u) as n) as l
    where l.words = l.least;
    if cardinality(configs) = 1 then
        return configs[1];
    end if;
    return (
        select c.config
        from unnest(configs) with ordinality as c (config, place),
        lateral (select count(*) as known
                 from unnest(to_tsvector(c.config, telling)) as u
                 join term_statistics t on t.lexeme = u.lexeme collate "C" where t.df > 0) as l
        order by l.known desc, c.place
        limit 1);
end $$;
comment on function lexichord.question_config(text, bigint[]) is
'Of the text configurations of documents, null = of all, the one that is of a question''s language. Internal. Readers may call it.';
