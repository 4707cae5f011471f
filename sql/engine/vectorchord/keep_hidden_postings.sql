-- What a fault of the version costs, by itself: a release that mends it lets this go.
-- vchord_bm25 0.3.0 passes a block of 128 postings over whose best is the last: it keeps the bound of a block before. What
-- scores more than that stands beside the index, as the chunks of rare terms do (no release mends it yet). mean = the
-- mean length as the index has it.
create or replace function lexichord.keep_hidden_postings(segment text, mean float8) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    execute format($hidden$
        with posting as materialized (
            select h.term_id, h.chunk_id, h.tf / (h.tf + 0.3 + 0.9 * s.length / $1) as score,
                   row_number() over (partition by h.term_id order by s.ctid) - 1 as number
            from %1$s_posting h join %1$s_term t on t.term_id = h.term_id join %1$s s on s.chunk_id = h.chunk_id
            where t.place is not null and t.df >= 128
        ), block as (
            select p.term_id, p.number / 128 as number, max(p.score) as best,
                   max(p.score) filter (where p.number %% 128 = 127) >= 0.999999 * max(p.score) as is_hidden
            from posting p group by 1, 2 having count(*) = 128
        ), run as (
            select b.*, count(*) filter (where not b.is_hidden) over (partition by b.term_id order by b.number) as run from block b
        ), bound as (
            select r.*, coalesce(max(r.best) filter (where not r.is_hidden) over (partition by r.term_id, r.run), 0) as bound from run r
        )
        update %1$s_term t set chunk_ids = h.chunk_ids
        from (select p.term_id, array_agg(p.chunk_id) as chunk_ids
              from posting p join bound b on b.is_hidden and b.term_id = p.term_id and b.number = p.number / 128 and p.score > 0.999999 * b.bound
              group by 1) as h
        where t.term_id = h.term_id
        $hidden$, segment) using mean;
end $$;
comment on function lexichord.keep_hidden_postings(text, float8) is
'Stores beside a segment''s index the chunks that vchord_bm25 passes over by mistake. Internal.';
