-- A table of its own, for an index that gets no insert, update or delete after it was built: in 9 of 206 crashes amid
-- writes vchord_bm25 0.3.0 left its index so that each scan took the whole server down, in none of 127 after a build alone.
-- Deleted chunks are left out when the proposals are scored. The index takes pages by the largest number of a term, so terms
-- are numbered anew, the most frequent first, and those of up to 16 chunks, nine of ten, have these beside it.
-- The index ranks by k1 1.2 and b .75, whatever lexichord's are. Term 0, which no question has, makes each length such that
-- the same order comes out: 1.2 (.25 + .75 length / mean) is to be k1 (1 - b + b token_count / average), and chunk 0, which
-- there is not, makes the mean. So for k1 <= 1.2 and k1 (1 - b) >= .3, else coarser. Lengths have four bits: the nearest.
create or replace function lexichord.seal_segment(number integer, chunk_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning set work_mem = '256MB' as $$
declare
    segment text := lexichord.segment_name(number);
    mean float8;
    added float8;
    reader text;
begin
    select 0.9 * n.average_length / (p.k1 * p.b), (p.k1 * (1 - p.b) - 0.3) * n.average_length / (p.k1 * p.b) into mean, added
    from corpus_statistics n, bm25_parameters() as p;
    execute format('create table %1$s (chunk_id bigint not null, length float8, vector @extschema:vchord_bm25@.bm25vector not null);
                    create table %1$s_term (term_id integer primary key, place integer, df bigint not null, chunk_ids bigint[]);
                    create unlogged table %1$s_posting (chunk_id bigint, token_count integer, term_id integer, tf integer)', segment);
    -- Read once: what is deleted meanwhile must not shift the blocks of postings that the index is going to have.
    execute format('insert into %s_posting
                    select c.id, c.token_count, t.id, cardinality(u.positions)
                    from lexichord_data.chunk c, unnest(c.lexemes) as u join lexichord_data.term t on t.lexeme = u.lexeme collate "C"
                    where c.id = any($1)', segment) using chunk_ids;
    execute format('analyze %s_posting', segment);
    execute format('insert into %1$s_term select h.term_id, case when count(*) > 16 then row_number() over (order by count(*) desc) end, count(*),
                        case when count(*) <= 16 then array_agg(h.chunk_id) end
                    from %1$s_posting h group by h.term_id', segment);
    execute format($insert$
        with placed as (
            select h.chunk_id, string_agg(',' || p.place || ':' || h.tf, '' order by p.place) as terms, sum(h.tf) as length, h.token_count + $1 - 24 as wanted
            from %1$s_posting h join %1$s_term p on p.term_id = h.term_id where p.place is not null group by h.chunk_id, h.token_count
        ), padded as (
            select p.chunk_id, p.terms, p.length, greatest(1, 24 - p.length + round(p.wanted / s.step) * s.step)::integer as padding
            from placed p, lateral (select power(2, greatest(floor(ln(greatest(p.wanted, 1)) / ln(2)) - 3, 0)) as step) as s
        ), filled as (
            insert into %1$s select p.chunk_id, p.length + p.padding, ('{0:' || p.padding || p.terms || '}')::@extschema:vchord_bm25@.bm25vector from padded p
        ), balance as (
            insert into %1$s select 0, null, format('{0:%%s}', least(greatest(1, $2 * (count(*) + 1) - sum(p.length + p.padding)), 2000000000)::integer)::@extschema:vchord_bm25@.bm25vector from padded p
        )
        insert into %1$s_term select 0, 0, count(*) + 1 from padded
        $insert$, segment) using added, mean;
    perform lexichord.keep_hidden_postings(segment, mean);
    execute format('drop table %s_posting', segment);
    execute format('create index on %s using bm25 (vector @extschema:vchord_bm25@.bm25_ops)', segment);
    if (select c.has_tenants from configuration c) then  -- it holds terms of all tenants
        execute format('alter table %1$s enable row level security; alter table %1$s_term enable row level security', segment);
    end if;
    for reader in  -- whoever may read keyword
        select case a.grantee when 0 then 'public' else a.grantee::regrole::text end
        from pg_class c, aclexplode(c.relacl) as a
        where c.oid = 'lexichord_data.keyword'::regclass and a.privilege_type = 'SELECT'
    loop
        execute format('grant select on %1$s, %1$s_term to %2$s', segment, reader);
    end loop;
end $$;
comment on function lexichord.seal_segment(integer, bigint[]) is 'Makes a segment of the keyword index. Internal.';
