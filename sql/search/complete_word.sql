-- The vocabulary says which words there are, by its index; what is returned is read in chunks of the scope, so that
-- nothing is told of others. Of a lexeme its best chunks tell how it is written and under which headings it stands.
-- A phrase is a word with the one that follows it at least every second time.
create or replace function lexichord.complete_word(
    beginning text, most integer default 8,
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (completion text, kind text, chunks bigint)
language plpgsql stable rows 20
set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    typed text := lexichord.fold_case(lexichord.normal_form(beginning));
    pattern text := '(?:^|[^[:alnum:]_])(' || regexp_replace(typed, '([^[:alnum:][:space:]])', '\\\1', 'g');
begin
    perform lexichord.check_count('most', most);
    if typed !~ '^[[:alnum:]]{1,60}$' then
        return;
    end if;
    return query
    with lexeme as materialized (
        (select t.lexeme from term_statistics t
         where t.lexeme >= typed collate "C" and t.lexeme < (typed || chr(1114111)) collate "C"
         order by t.df desc, t.lexeme limit most)
        union -- what is typed may be longer than its lexeme
        select l.one from unnest(lexichord.text_configs(scope)) as f (config),
                          unnest(tsvector_to_array(lexichord.word_lexemes(typed, f.config))) as l (one)
    ), found as materialized (
        select distinct c.id, c.heading, lexichord.normal_form(c.content) as content
        from lexeme l, lexichord.term_candidates(lexichord.exact_lexemes(array[l.lexeme]), 20, scope) as k
        join chunk c on c.id = k.chunk_id
    ), heading as (
        select h.part, count(distinct f.id) as chunks
        from found f, regexp_split_to_table(f.heading, ' [›–] ') as h (part)
        where lexichord.normal_form(h.part) ~* (pattern || ')')
        group by h.part order by 2 desc, 1 limit most
    ), word as materialized (
        select lower(m[1]) as word, count(*) as times, count(distinct f.id) as chunks
        from found f, regexp_matches(f.content, pattern || '[[:alnum:]]*)', 'gi') as m group by 1
    ), phrase as (
        select p.word || ' ' || p.next as both, p.chunks
        from (select lower(m[1]) as word, lower(m[2]) as next, count(*) as times, count(distinct f.id) as chunks
              from found f, regexp_matches(f.content, pattern || '[[:alnum:]]*) ([[:alpha:]]{3,})', 'gi') as m group by 1, 2) as p
        join word w on w.word = p.word
        where p.chunks > 1 and 2 * p.times >= w.times
          and exists (select from unnest(lexichord.text_configs(scope)) as f (config) where length(lexichord.word_lexemes(p.next, f.config)) > 0)
    )
    select h.part, 'heading', h.chunks from heading h
    union all (select w.word, 'word', w.chunks from word w where w.word <> typed order by 3 desc, 1 limit most)
    union all (select p.both, 'phrase', p.chunks from phrase p order by 3 desc, 1 limit most);
end $$;
comment on function lexichord.complete_word(text, integer, text[], bigint[], text, jsonb) is
'What a scope holds of words that begin so: headings with such a word, the words as they are written, phrases that they begin, each kind by how many of the best chunks have it. Readers may call it.';
