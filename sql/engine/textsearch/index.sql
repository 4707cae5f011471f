-- Idempotent: what the BM25 index reads, each lexeme as often as it occurs, under the configuration `simple`,
-- so that nothing is stemmed twice.
create or replace function lexichord_data.index_word(lexeme text) returns text
language sql immutable strict parallel safe
return case when lexeme ~ '[^[:alnum:]]' then 'x' || md5(lexeme) else lexeme end;  -- the parser would part a-1, and drop 🚀

create or replace function lexichord_data.lexeme_text(lexemes tsvector) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(string_agg(repeat(index_word(lexeme) || ' ', cardinality(positions)), '' order by lexeme), '')
    from unnest(lexemes)
$$;

alter table lexichord_data.keyword add column if not exists keyword_text text;

create or replace function lexichord_data.fill_keyword_text() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    -- As lexeme_text does, whose call would take longer than the rest.
    select coalesce(string_agg(repeat(index_word(u.lexeme) || ' ', cardinality(u.positions)), ''), '') into new.keyword_text
    from chunk c, unnest(c.lexemes) as u where c.id = new.chunk_id;
    return new;
end $$;
create or replace trigger fill_keyword_text before insert on lexichord_data.keyword
    for each row execute function lexichord_data.fill_keyword_text();

-- What was stored before there were impacts.
select lexichord_data.add_missing_keywords();
