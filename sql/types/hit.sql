-- Idempotent: the row of a hit, which the searches share, what of it any chunk has, and the rows that hold more.
-- Types, not columns of each function: what is built on a function goes on when its type gains a column. A new column is
-- the last one of `later`, for in a type that is there already it can only come last.
do $$
declare
    chunk text[] := array['chunk_id bigint', 'document_id bigint', 'dataset text', 'uri text', 'title text', 'heading text',
                          'char_start integer', 'char_end integer', 'page integer', 'content text', 'context text'];
    hit text[] := chunk || array['score double precision', 'dense_score double precision', 'dense_rank bigint',
                                 'keyword_score double precision', 'keyword_rank bigint', 'fused_score double precision'];
    later text[] := '{}';
    type record;
    attribute text;
begin
    for type in
        select t.name, t.attributes, to_regclass('lexichord.' || t.name) as known
        from (values ('located_chunk', chunk),
                     ('hit', hit || later),
                     ('numbered_hit', array['query_number integer'] || hit || later),
                     ('variant_hit', hit || array['variant_ranks jsonb', 'variant_scores jsonb'] || later),
                     ('candidate', array['channel text', 'is_boosted boolean', 'chunk_id bigint', 'document_id bigint', 'rank bigint',
                                         'score double precision'])
             ) as t (name, attributes)
    loop
        if type.known is null then
            execute format('create type lexichord.%I as ()', type.name);
        end if;
        foreach attribute in array type.attributes loop
            if not exists (select from pg_attribute a
                           where a.attrelid = type.known and a.attname = split_part(attribute, ' ', 1)) then
                execute format('alter type lexichord.%I add attribute %s', type.name, attribute);
            end if;
        end loop;
    end loop;
end $$;

comment on type lexichord.located_chunk is 'A chunk with its place: what each row of a search has.';
comment on type lexichord.hit is 'A row of hybrid_search.';
comment on type lexichord.numbered_hit is 'A row of search_each: the number of the query, and a hit.';
comment on type lexichord.variant_hit is 'A row of search_variants: a hit, and the ranks and scores that each variant gave it.';
comment on type lexichord.candidate is 'A chunk that a channel, dense or keyword, proposes: in the list of the scope, or in that of boosted documents.';
