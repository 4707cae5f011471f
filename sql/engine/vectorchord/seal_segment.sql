-- A table of its own, for an index that gets no insert, update or delete after it was built: in 9 of 206 crashes amid
-- writes vchord_bm25 0.3.0 left its index so that each scan took the whole server down, in none of 127 after a build alone.
-- Deleted chunks are left out when the proposals are scored.
create or replace function lexichord.seal_segment(number integer, chunk_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    segment text := lexichord.segment_name(number);
    reader text;
begin
    execute format('create table %s (chunk_id bigint not null, vector @extschema:vchord_bm25@.bm25vector not null)', segment);
    execute format('insert into %s select c.id, lexichord_data.lexeme_vector(c.lexemes)::@extschema:vchord_bm25@.bm25vector
                    from lexichord_data.chunk c where c.id = any($1)', segment) using chunk_ids;
    execute format('create index on %s using bm25 (vector @extschema:vchord_bm25@.bm25_ops)', segment);
    for reader in  -- whoever may read keyword
        select case a.grantee when 0 then 'public' else a.grantee::regrole::text end
        from pg_class c, aclexplode(c.relacl) as a
        where c.oid = 'lexichord_data.keyword'::regclass and a.privilege_type = 'SELECT'
    loop
        execute format('grant select on %s to %s', segment, reader);
    end loop;
end $$;
comment on function lexichord.seal_segment(integer, bigint[]) is 'Makes a segment of the keyword index.';
