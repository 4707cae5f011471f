-- The uri of a file that was sent names its dataset: one of the same name that is sent later is to take its place.
create or replace function lexichord.moved_uri(uri text, dataset text, new_dataset text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select case when starts_with(uri, format('upload://%s/', dataset))
                then format('upload://%s/', new_dataset) || substr(uri, length(format('upload://%s/', dataset)) + 1) else uri end
$$;
comment on function lexichord.moved_uri(text, text, text) is 'The uri that a document of one dataset has in another. Internal.';
