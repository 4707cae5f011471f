-- What is wrong is raised here and by no function below, for psql shows a line and more of each that an error passes.
-- The one place where a scope becomes documents; for whom some are hidden, everything is those that are not. Nothing is assembled as text: every value is a parameter.
create or replace function lexichord.scope_documents(
    datasets text[] default null, documents bigint[] default null,
    uri_prefix text default null, filter jsonb default null
) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own_ids bigint[] := lexichord_data.own_datasets();
    own_principals text[] := case when own_ids is not null then lexichord_data.own_principals() end;
    dataset_ids bigint[] := own_ids;
    fault record;
    missing text;
    document_ids bigint[];
begin
    if datasets is null and documents is null and uri_prefix is null and filter is null
       and own_ids is null and not row_security_active('lexichord_data.document') then
        return null;
    end if;
    if datasets is not null then
        fault := lexichord.check_datasets(datasets);
        if fault.message is not null then
            raise exception '%', fault.message using errcode = 'no_data_found', table = 'dataset', hint = fault.hint;
        end if;
    end if;
    select 'document ' || string_agg(i::text, ', ') into missing
    from unnest(documents) as i where not exists (
        select from document d
        where d.id = i and (own_ids is null or d.dataset_id = any(own_ids) and (d.principals is null or d.principals && own_principals)));
    if missing is not null then
        raise exception 'there is no such document'
            using errcode = 'no_data_found', detail = missing, hint = 'select * from lexichord.list_documents();';
    end if;
    if datasets is not null then
        dataset_ids := array(select s.id from dataset s where s.name = any(datasets) and (own_ids is null or s.id = any(own_ids)));
    end if;

    select coalesce(array_agg(d.id order by d.id), '{}') into document_ids
    from document d
    where (dataset_ids is null or d.dataset_id = any(dataset_ids))
      and (scope_documents.documents is null or d.id = any(scope_documents.documents))
      and (uri_prefix is null or starts_with(d.uri, uri_prefix))
      and (own_ids is null or d.principals is null or d.principals && own_principals);
    if filter is null then
        return document_ids;
    end if;
    -- Documents do not count here: a search of several looks inside single ones, too.
    fault := lexichord.check_filter(filter, case when scope_documents.documents is null then document_ids else (
        select array_agg(d.id) from document d
        where (dataset_ids is null or d.dataset_id = any(dataset_ids))
          and (uri_prefix is null or starts_with(d.uri, uri_prefix))
          and (own_ids is null or d.principals is null or d.principals && own_principals)) end);
    if fault.message is not null then
        raise exception '%', fault.message using errcode = 'invalid_parameter_value', hint = fault.hint;
    end if;
    return coalesce((
        select array_agg(d.id order by d.id) from document d join dataset s on s.id = d.dataset_id
        where d.id = any(document_ids) and lexichord.filter_matches(
            lexichord.document_facts(s.name, d.uri, d.title, d.media_type, d.metadata), filter)), '{}');
end $$;
comment on function lexichord.scope_documents(text[], bigint[], text, jsonb) is
'The documents that a scope names; null when it names everything. An unknown dataset, document, key or operator is an error. Readers may call it.';
