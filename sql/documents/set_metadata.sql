-- Chunks and vectors do not depend on it.
create or replace function lexichord.set_metadata(document bigint, changes jsonb) returns jsonb
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    changed jsonb;
begin
    if jsonb_typeof(changes) is distinct from 'object' then
        raise exception 'metadata: % is no object', coalesce(changes::text, 'null') using errcode = 'invalid_parameter_value';
    end if;
    update document d
    set metadata = (d.metadata || changes) - array(select k from jsonb_each(changes) as c (k, v) where v = 'null'),
        updated_at = now()
    where d.id = set_metadata.document
    returning d.metadata into changed;
    if changed is null then
        raise exception 'there is no document %', document using errcode = 'no_data_found';
    end if;
    return changed;
end $$;
comment on function lexichord.set_metadata(bigint, jsonb) is
'Sets keys of a document''s metadata, and takes those away whose new value is null; returns the metadata. Nothing is embedded again.';
