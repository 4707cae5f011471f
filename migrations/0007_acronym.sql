-- The analyzer takes an acronym's plural as the acronym from here on (NDAs -> nda). What was stored before is analyzed
-- anew where it holds one, by the functions of before: they see the same once the s is gone.
do $$
declare
    plural constant text := '([[:upper:]]{2})s(?![[:alnum:]_])';
    chunks bigint[];
    documents bigint[];
begin
    select array_agg(c.id) into chunks from lexichord_data.chunk c
    where concat_ws(' ', c.context, c.keyword_context, c.content) ~ plural;
    select array_agg(d.id) into documents from lexichord_data.document d
    where concat_ws(' ', d.title, d.uri, left(d.text, 1500)) ~ plural;
    if chunks is null and documents is null then
        return;  -- a new database has no functions yet
    end if;

    perform from lexichord_data.corpus for no key update;
    -- Without the index updates would be heap-only ones, and pg_textsearch 0.6.1 builds no index that finds their rows.
    perform lexichord.build_indexes();
    update lexichord_data.chunk c
    set lexemes = n.lexemes,
        token_count = (select coalesce(sum(cardinality(u.positions)), 0) from unnest(n.lexemes) as u)
    from (select o.id, lexichord.lexemes(regexp_replace(
                     concat_ws(' ', o.context, o.keyword_context, o.content), plural, '\1', 'g')) as lexemes
          from lexichord_data.chunk o where o.id = any(chunks)) as n
    where c.id = n.id;

    delete from lexichord_data.card_term c where c.document_id = any(documents);
    insert into lexichord_data.card_term (lexeme, document_id, tf)
    select u.lexeme, d.id, cardinality(u.positions)
    from lexichord_data.document d,
         unnest(lexichord.lexemes(regexp_replace(
             concat_ws(' ', d.title, d.title, regexp_replace(d.uri, '^.*/', ''), left(d.text, 1500)), plural, '\1', 'g'))) as u
    where d.id = any(documents);
    update lexichord_data.document d
    set card_length = (select coalesce(sum(c.tf), 0) from lexichord_data.card_term c where c.document_id = d.id)
    where d.id = any(documents);
    perform lexichord.recount();
    -- VectorChord's packs its rows only when it is built, which is what follows the migrations.
    drop index if exists lexichord_data.chunk_keyword;
end $$;
