-- $1 = segments, $2 = terms, $3 = the most postings to read, $4 = the most chunks.
-- Without joins that a plan could turn round: a term's postings by the index alone, and then the chosen ones by their ids.
-- unnest stands in the select list, because as a table it takes five times as long. What is not read of a term could add
-- as much as its first unread posting: each sum counts from there, by the share of the segments' other chunks, deleted ones
-- among them as among the postings, that hold the term.
create or replace function lexichord.posting_statement() returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select $statement$
        with query as materialized (
            select w.term_id, w.weight from lexichord.keyword_weights($2) as w
        ), read as materialized (
            select b.id, b.part - coalesce(b.unread * b.unread_amount / (n.chunks - b.read_amount), 0) as part
            from (select sum(s.chunks)::float8 as chunks from lexichord_data.keyword_segment s where s.number = any($1)) as n,
                 (select a.*, max(a.part) filter (where a.before >= $3) over term as unread,
                         sum(a.amount) filter (where a.before >= $3) over term as unread_amount,
                         sum(a.amount) filter (where a.before < $3) over term as read_amount
                  from (select p.id, w.term_id, p.amount, w.weight * p.impact as part,
                               sum(p.amount) over (order by w.weight * p.impact desc rows unbounded preceding) - p.amount as before
                        from query w cross join lateral (
                            select p.id, p.amount, p.impact from lexichord_data.posting p
                            where p.term_id = w.term_id and p.segment = any($1) offset 0) as p) as a
                  window term as (partition by a.term_id)) as b
            where b.before < $3
        )
        select s.chunk_id from (
            select h.chunk_id, sum(h.part) as score
            from (select unnest(p.chunk_ids) as chunk_id, r.part from read r cross join lateral (
                      select p.chunk_ids from lexichord_data.posting p where p.id = r.id offset 0) as p) as h
            group by h.chunk_id order by 2 desc limit $4) as s
        $statement$
$$;
comment on function lexichord.posting_statement() is
'The statement that segment_proposals runs and that index_use explains. Internal. Readers may call it.';
