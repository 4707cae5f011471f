-- By a hash of the id: spread over all documents, and the same ones each time. Of each chunk first one sentence, then, where
-- the chunks are few, a second one, and so on. What is shorter is mostly a heading or a cell, what is longer a list or code.
create or replace function lexichord.sample_sentences(amount integer)
returns table (chunk_id bigint, sentence text)
language sql stable rows 60 set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    with sampled as materialized (
        select c.id from chunk c order by hashint8(c.id), c.id limit amount
    )
    select s.id, s.sentence
    from (select c.id, btrim(p.part, E' \t\r') as sentence,
                 row_number() over (partition by c.id order by hashtext(p.part), p.part) as turn
          from sampled c join chunk using (id),
               regexp_split_to_table(chunk.content, '(?<=[.?!])\s+|(?<=[。？！])|\n+') as p(part)
          where char_length(btrim(p.part, E' \t\r')) between 20 and 400) as s
    order by s.turn, hashint8(s.id), s.id
    limit amount
$$;
comment on function lexichord.sample_sentences(integer) is
'Sentences of stored chunks, at most so many, by which the cosines of an embedding space are measured. Readers may call it.';
