-- An indexed table deletes its dataset with all that is in it, and stores its rows there again.
create or replace function lexichord.check_move(documents bigint[], dataset_id bigint) returns void
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    target dataset;
    found_one record;
begin
    select * into target from dataset s where s.id = check_move.dataset_id;
    if documents <> '{}' and exists (select from indexed_table t where t.dataset = target.name) then
        raise exception 'the dataset % is an indexed table''s', target.name
            using errcode = 'invalid_parameter_value', hint = 'Only the table''s rows are stored there.';
    end if;
    select d.uri, t.name into found_one
    from table_row r join indexed_table t on t.id = r.table_id join document d on d.id = r.document_id where r.document_id = any(documents) limit 1;
    if found then
        raise exception '% is a row of the indexed table %', found_one.uri, found_one.name
            using errcode = 'invalid_parameter_value', hint = 'It stays in the table''s dataset.';
    end if;
    select d.uri, s.name into found_one
    from document d join dataset s on s.id = d.dataset_id where d.id = any(documents) and s.tenant_id <> target.tenant_id limit 1;
    if found then
        raise exception '% in % is of another tenant than the dataset %', found_one.uri, found_one.name, target.name
            using errcode = 'invalid_parameter_value';
    end if;
    select m.uri, count(*) into found_one
    from document d join dataset s on s.id = d.dataset_id, lexichord.moved_uri(d.uri, s.name, target.name) as m (uri)
    where d.id = any(documents)
    group by m.uri
    having count(*) > 1 or exists (select from document e where e.dataset_id = target.id and e.uri = m.uri)
    limit 1;
    if found then
        raise exception '% is in % already', found_one.uri, target.name using errcode = 'invalid_parameter_value',
            hint = 'Delete one of the two documents first.';
    end if;
end $$;
comment on function lexichord.check_move(bigint[], bigint) is
'Refuses documents that cannot be in a dataset: rows of an indexed table, another tenant''s, and those whose uri another has there. Internal.';
