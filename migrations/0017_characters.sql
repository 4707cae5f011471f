-- From here on the analyzer makes pairs of a run of Chinese, Japanese, Korean or Thai characters. What was stored before
-- is analyzed anew where it holds such a run, by the analyzer as it is with this migration: the database's functions are
-- still those of before.
create function pg_temp.keyword_text(input text) returns text language plpgsql immutable strict as $$
declare
    plain text := regexp_replace(regexp_replace(input,
            '(?<=[[:digit:]]),(?=[[:digit:]]{3}(?![[:digit:]]))', '', 'g'),
            '([[:upper:]]{2})s(?![[:alnum:]_])', '\1', 'g');
    -- A Thai vowel above or below and a tone mark belong to the letter before them.
    letter constant text :=
        '[\u3005\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u3105-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF'
        '\uAC00-\uD7A3\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46]'
        '[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E]*';
    words text;
    match text[];
begin
    -- Each letter is doubled with a blank between, which leaves the pairs, and the ends go: of abc's "a ab bc c" "ab bc".
    if octet_length(plain) > length(plain) and plain ~ letter then
        plain := regexp_replace(translate(plain, E'\x01\x02', '  '), '((?:' || letter || ')+)', E'\x01\\1\x02', 'g');
        plain := regexp_replace(plain, '(' || letter || ')', '\1 \1', 'g');
        plain := regexp_replace(plain, format(E'\x01(%1$s) %1$s\x02|\x01%1$s | %1$s\x02', letter), ' \1 ', 'g');
    end if;
    -- Blanks and line ends stay as they are: replacing them, too, took half of this function's time.
    words := regexp_replace(regexp_replace(plain,
            '([[:lower:][:digit:]])([[:upper:]])|([[:upper:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'),
            '(?<![[:digit:]])\.|\.(?![[:digit:]])|[^[:alnum:]\u0E31\u0E34-\u0E3A\u0E47-\u0E4E. \n]+', ' ', 'g');
    -- A loop is a query, even over nothing; a look whether there is something takes a fifth of it.
    if plain ~ '[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]]' then
        for match in select regexp_matches(plain,
                '([[:alnum:]_]*(?:[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]])[[:alnum:]_]*)',
                'g') loop
            words := words || ' ' || replace(match[1], '_', '');
        end loop;
    end if;
    if plain ~ '[[:digit:]]\.[[:digit:]]' then
        for match in select regexp_matches(plain, '([[:digit:]]+(?:\.[[:digit:]]+)+)', 'g') loop
            words := words || ' ' || replace(match[1], '.', ' ');
        end loop;
    end if;
    return lower(words);
end $$;

create function pg_temp.token_count(lexemes tsvector) returns integer language sql immutable strict as $$
    select coalesce(sum(cardinality(u.positions)), 0)::integer from unnest(lexemes) as u
$$;

do $$
declare
    run constant text :=
        '[\u0E01-\u0E4E\u3005\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u3105-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF'
        '\uAC00-\uD7A3\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF]';
    analyzer regconfig := (select c.text_config from lexichord_data.configuration c);
begin
    perform pg_advisory_xact_lock(hashtextextended('lexichord.write', 0));  -- as lexichord.hold_writers
    create temporary table analyzed on commit drop as
    select c.id, c.dataset_id, c.lexemes as before, to_tsvector(analyzer, pg_temp.keyword_text(
               concat_ws(' ', c.context, c.keyword_context, c.content))) as lexemes
    from lexichord_data.chunk c where concat_ws(' ', c.context, c.keyword_context, c.content) ~ run;
    create temporary table card on commit drop as
    select d.id, to_tsvector(analyzer, pg_temp.keyword_text(
               concat_ws(' ', d.title, d.title, regexp_replace(d.uri, '^.*/', ''), left(d.text, 1500)))) as lexemes
    from lexichord_data.document d where concat_ws(' ', d.title, d.uri, left(d.text, 1500)) ~ run;

    perform lexichord_data.add_terms(array(select distinct u.lexeme from analyzed a, unnest(a.lexemes) as u));
    insert into lexichord_data.term_change (term_id, dataset_id, df)
    select t.id, h.dataset_id, sum(h.df)
    from (select a.dataset_id, u.lexeme, -1 as df from analyzed a, unnest(a.before) as u
          union all
          select a.dataset_id, u.lexeme, 1 from analyzed a, unnest(a.lexemes) as u) as h
    join lexichord_data.term t on t.lexeme = h.lexeme collate "C"
    group by 1, 2 having sum(h.df) <> 0;
    insert into lexichord_data.dataset_change (dataset_id, chunk_count, token_count, document_count, card_token_count)
    select a.dataset_id, 0, sum(pg_temp.token_count(a.lexemes) - c.token_count), 0, 0
    from analyzed a join lexichord_data.chunk c on c.id = a.id group by 1;
    -- The trigger that keeps the keyword table is of before, until the functions are installed: they make missing rows.
    drop trigger if exists keep_updated on lexichord_data.chunk;
    if to_regclass('lexichord_data.keyword') is not null then
        delete from lexichord_data.keyword k using analyzed a where k.chunk_id = a.id;
    end if;
    update lexichord_data.chunk c set lexemes = a.lexemes, token_count = pg_temp.token_count(a.lexemes)
    from analyzed a where c.id = a.id;

    delete from lexichord_data.card_term c using card n where c.document_id = n.id;
    insert into lexichord_data.card_term (lexeme, document_id, tf)
    select u.lexeme, n.id, cardinality(u.positions) from card n, unnest(n.lexemes) as u;
    update lexichord_data.document d set card_length = pg_temp.token_count(n.lexemes) from card n where d.id = n.id;
    drop table analyzed, card;
end $$;

drop function pg_temp.token_count(tsvector), pg_temp.keyword_text(text);
