create or replace function lexichord.shared_headings(documents bigint[], most integer default 8)
returns table (heading text)
language sql stable rows 8 set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    with named as (
        select distinct on (c.document_id, n.name) c.document_id, d.text_config, c.ordinal, p.place, n.name
        from chunk c join document d on d.id = c.document_id,
             regexp_split_to_table(c.heading, ' [›–] ') with ordinality as p (part, place),
             -- "5. Term", "§ 3 Term", "ARTICLE IV. Term", "(a) Term" are one heading.
             btrim(regexp_replace(p.part,
                 '^\s*(?:(?:article|section|clause|chapter|part|schedule|annex)\M)?[^[:alpha:]]*(?:(?:[ivxlc]+|[a-z])[.):]\s+)?',
                 '', 'i'), ' .:') as n (name)
        where c.document_id = any(documents) and n.name ~ '[[:alpha:]]{3}'
        order by c.document_id, n.name, c.ordinal, p.place
    ), by_word as (
        select u.lexeme, count(distinct n.document_id) as held, min(n.ordinal) as first,
               (array_agg(n.name order by length(n.name), n.document_id, n.ordinal))[1] as name
        from named n, unnest(lexichord.word_lexemes(n.name, n.text_config)) as u
        group by u.lexeme
        having count(distinct n.document_id) > 1
    ), shared as (
        select (array_agg(name order by name))[1] as name, max(held) as held, min(first) as first
        from by_word
        group by lower(name)
        order by max(held) desc, min(first), 1
        limit most
    )
    select name from shared order by first, name
$$;
comment on function lexichord.shared_headings(bigint[], integer) is
'For each word that headings of at least two of the documents share, the shortest heading with it, without its number; in reading order. If there are more than most, those of most documents. Readers may call it.';
