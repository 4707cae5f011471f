-- Which words of a query name which documents. A document is named by its title, its file's name or the title's
-- initials (of three letters and more: MSA); what only the rest of its card holds comes along, as parties do.
-- File names write a name of several words as one, with more behind it ("Adams Golf" in ADAMSGOLFINC_2005, "the Atlantic" in
-- theatlantic.com): up to three words of the query, a capital among them, that open a word of at least five letters.
-- rare: at most 3 cards, or a fiftieth of them, hold the word; how many more do tells nothing, and is not counted.
create or replace function lexichord.link_documents(
    words text[], depth integer default 25,
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (
    document_id bigint, dataset text, uri text, title text, domain text, word integer, in_title boolean, in_file boolean,
    initials boolean, rare boolean, score double precision, title_terms integer, file_terms integer)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    configs regconfig[] := lexichord.text_configs(scope);
    own regconfig := lexichord.question_config(array_to_string(words, ' '), scope);
    few bigint := (select greatest(3, o.document_count / 50) from corpus_statistics o);
begin
    if depth is null or depth not between 1 and 1000 or cardinality(words) > 1000 then
        raise exception 'depth must be between 1 and 1000, and there may be 1000 words at most'
            using errcode = 'invalid_parameter_value';
    end if;
    return query
    with form as materialized (
        select w.ord::integer as word, lexichord.keyword_text(n.form) as words, lexichord.joined_words(n.form) as joined
        from unnest(words) with ordinality as w (text, ord),
             lateral (select lexichord.split_runs(lexichord.normal_form(w.text)) as form offset 0) as n
    ), part as materialized (
        -- As query_words has them, all words at once: called for each it would look for the languages in scope, and for the word's own, anew.
        select f.word, p.part
        from form f, regexp_split_to_table(concat_ws(' ', f.words, f.joined), '\s+') as p (part)
        where to_tsvector(own, p.part) <> ''::tsvector
    ), term as materialized (
        select l.word, l.lexeme, l.lexeme ~ '[^[:digit:].]' as lettered
        from (select p.word, u.lexeme from part p, unnest(configs) as c (config), unnest(to_tsvector(c.config, p.part)) as u
              union
              select p.word, f.folded
              from part p, unnest(configs) as c (config), lexichord.folded_lexemes(p.part, c.config) as f
              where octet_length(p.part) > length(p.part)) as l
    ), needed as (
        -- An identifier has its parts and its whole as lexemes: most of them, in one language, will do; but
        -- most of its numbers do not make up for its name, "MPL-2.0" is not "Apache 2.0".
        select l.word, l.lettered, min(l.lexemes) / 2 + 1 as least
        from (select f.word, u.lexeme ~ '[^[:digit:].]' as lettered, count(*) as lexemes
              from form f, unnest(configs) as c (config), unnest(to_tsvector(c.config, lexichord.fold_accents(f.words))) as u
              group by f.word, c.config, lettered) as l
        group by l.word, l.lettered
    ), held as materialized (
        select t.lexeme, (select count(*) from (select from card_term c where c.lexeme = t.lexeme collate "C" limit few + 1) as found) as cards
        from (select distinct term.lexeme from term) as t
    ), abbreviation as materialized (  -- else made anew for each title: 16 of 27 ms of 557 documents
        -- A small word may give a letter (bill of lading), but not the last one: "Data Privacy and Cookies" is no DPA.
        -- Typed in small letters, "the msa", it stands for a title up to its first sign alone, where few cards hold it as a word.
        select w.ord::integer as word,
               case when w.text ~ '[[:upper:]]' then '\m' else '^(?:the[[:space:]]+)?' end
               || regexp_replace(left(w.text, -1), '(.)', '\1[[:alnum:]]*[^[:alnum:]]+', 'g')
               || '(?!(?:and|an?|of|or|on|for|from|the|to|in|by|with)\M)' || right(w.text, 1)
               || case when w.text ~ '[[:upper:]]' then '' else '[[:alnum:]]*[[:space:]]*(?:[^[:alnum:][:space:]]|$)' end as pattern
        from (select s.ord, case
                  when s.text ~ '^[[:upper:]]{3,6}s?$' then rtrim(s.text, 's')
                  when s.text ~ '^[[:lower:]]{3,6}$' and lower(words[s.ord - 1]) = any('{the,our,your,this,that,my,their,its}')
                      and not exists (select from term t join held h on h.lexeme = t.lexeme where t.word = s.ord and h.cards > few)
                  then s.text end as text
              from unnest(words) with ordinality as s (text, ord)) as w where w.text is not null
    ), by_initials as materialized (
        -- An abbreviation in a title counts with all its letters: "UI Static Assets" is not USA.
        select a.word, d.id from abbreviation a join document d on d.title ~* a.pattern
        where (scope is null or d.id = any(scope))
            and case when d.title ~ '[[:lower:]]' then regexp_replace(d.title, '([[:upper:]])(?=[[:upper:]])', '\1 ', 'g')
                     else d.title end ~* a.pattern
    ), by_card as materialized (
        select c.document_id as id, c.score from lexichord.card_candidates(array_to_string(words, ' '), depth, scope) as c
    ), spelled as materialized (
        -- One of them has to be in few cards: "Non-Disclosure" does not name a NonDisclosureAgreement, nor "Agreement" an AgreementsGuide.
        select s.*, left(lower(s.text), case when s.last > s.first then greatest(length(s.text) - 2, s.before + 1) else length(s.text) end) as stem
        from (select w.ord as first, w.ord + n.more as last, array_to_string(words[w.ord : w.ord + n.more], '') as text,
                     length(array_to_string(words[w.ord : w.ord + n.more - 1], '')) as before
              from generate_series(1, cardinality(words)) as w (ord), generate_series(0, 2) as n (more)
              where w.ord + n.more <= cardinality(words)) as s
        where length(s.text) >= 5 and s.text ~ '[[:upper:]]' and exists (
            select from term t join held h on h.lexeme = t.lexeme where t.word between s.first and s.last and h.cards <= few)
    ), by_beginning as materialized (
        -- What a card has as one word with more behind it is not among by_card: from there on in the index of lexemes.
        select distinct l.document_id as id
        from spelled s cross join lateral (
            select c.document_id from card_term c
            where c.lexeme >= s.stem collate "C" and c.lexeme < s.stem || chr(1114111) collate "C"
                and (scope is null or c.document_id = any(scope))
            order by c.lexeme collate "C", c.document_id limit depth) as l
    ), candidate as (
        select c.id, c.score from by_card c
        union all
        select * from (select m.id, 0::float8 from (select i.id from by_initials i union select b.id from by_beginning b) as m
                       where m.id not in (select c.id from by_card c) order by m.id limit 2 * depth) as more
    ), named as materialized (
        -- With all that is said of a document in the end: joined there again, the planner, which takes statistics of one
        -- row for a thousand, read every document into a hash table that it parted over files.
        select c.id, c.score, d.dataset_id, d.uri, d.title as called, d.metadata ->> 'domain' as domain, l.title, l.file,
               (select count(*)::integer from unnest(l.title) as u where u ~ '[^[:digit:]]') as title_terms,
               (select count(*)::integer from unnest(l.file) as u where u ~ '[^[:digit:]]') as file_terms
        from candidate c
        join document d on d.id = c.id
        cross join lateral (
            select tsvector_to_array(lexichord.word_lexemes(d.title, d.text_config)) as title,
                   tsvector_to_array(lexichord.word_lexemes(regexp_replace(
                       regexp_replace(d.uri, '^.*/|\.[[:alnum:]]{1,8}$', '', 'g'), '%[[:xdigit:]]{2}', ' ', 'g'), d.text_config)) as file
            offset 0) as l
    ), by_opening as materialized (
        -- Words that are one there lose an ending of the last one there, too: "the Atlantic" is theatlant of theatlantic.com.
        select n.id, s.first, s.last, o.in_title, o.in_file
        from spelled s cross join named n cross join lateral (
            select exists (select from unnest(n.title) as u where starts_with(u, s.stem) and starts_with(u, left(lower(s.text), length(u)))) as in_title,
                   exists (select from unnest(n.file) as u where starts_with(u, s.stem) and starts_with(u, left(lower(s.text), length(u)))) as in_file
            offset 0) as o
        where o.in_title or o.in_file
    ), most as (
        select n.id, t.word,
               count(*) filter (where t.lexeme = any(n.title)) >= max(e.least) as in_title,
               count(*) filter (where t.lexeme = any(n.file)) >= max(e.least) as in_file,
               count(c.document_id) >= max(e.least) as in_card, min(h.cards) as cards
        from named n cross join term t join needed e using (word, lettered) join held h on h.lexeme = t.lexeme
        -- "offset 0" keeps it a look-up by key: the planner would read the whole table.
        left join lateral (select c.document_id from card_term c
                           where c.document_id = n.id and c.lexeme = t.lexeme collate "C" offset 0) as c on true
        group by n.id, t.word, t.lettered
    ), matched as (
        select m.id, m.word, bool_and(m.in_title) as in_title, bool_and(m.in_file) as in_file,
               bool_and(m.in_card) as in_card, false as initials, min(m.cards) as cards
        from most m group by m.id, m.word
        union all
        select i.id, i.word, false, false, false, true, count(*) over (partition by i.word)
        from by_initials i join named n on n.id = i.id
        union all
        select o.id, w.word, o.in_title, o.in_file, false, false, count(*) over (partition by o.first, o.last, w.word)
        from by_opening o, generate_series(o.first, o.last) as w (word)
    )
    select n.id, s.name, n.uri, n.called, coalesce(n.domain, s.name), m.word, m.in_title, m.in_file,
           m.initials, m.cards <= few, n.score, n.title_terms, n.file_terms
    from (select a.id, a.word, bool_or(a.in_title) as in_title, bool_or(a.in_file) as in_file,
                 bool_or(a.initials) as initials, min(a.cards) as cards
          from matched a where a.in_title or a.in_file or a.in_card or a.initials group by a.id, a.word) as m
    join named n on n.id = m.id join dataset s on s.id = n.dataset_id
    order by n.score desc, m.id, m.word;
end $$;
comment on function lexichord.link_documents(text[], integer, text[], bigint[], text, jsonb) is
'Which words of a query (numbered from 1) stand in the title, the file name or the card of which documents; one row a document and word, for the depth best documents by card. initials = the word is made of the title''s initials; rare = few cards hold it; domain = the metadata''s "domain", else the dataset. Readers may call it.';
