-- Tenants share a database and learn nothing of each other. Nothing of this is in force until lexichord.turn_tenants_on():
-- until then there is no policy, and is_bound and own_datasets are constants that plans do not show.
create table lexichord_data.tenant (
    id         bigint generated always as identity primary key,
    name       text not null unique check (name <> ''),
    created_at timestamptz not null default now()
);
-- Whose SQL role belongs to which tenant. By name: roles are the server's, and not in a dump of the database.
create table lexichord_data.tenant_role (
    role_name  name primary key,
    tenant_id  bigint not null references lexichord_data.tenant on delete cascade,
    principals text[] not null default '{}'
);

alter table lexichord_data.configuration add column has_tenants boolean not null default false;
alter table lexichord_data.dataset add column tenant_id bigint references lexichord_data.tenant on delete set null;
create index dataset_tenant on lexichord_data.dataset (tenant_id);
-- Who may see it among those who reach its dataset; null = all of them, {} = nobody.
alter table lexichord_data.document add column principals text[];
alter table lexichord_data.api_key
    add column tenant_id  bigint references lexichord_data.tenant on delete set null,
    add column principals text[] not null default '{}',
    add check (tenant_id is null or not (writes or deletes));

-- Whether the caller is bound to a tenant, and to which datasets by that; null = the caller sees all.
create or replace function lexichord_data.is_bound() returns boolean
language sql immutable parallel safe
return false;
create or replace function lexichord_data.own_datasets() returns bigint[]
language sql immutable parallel safe
return null::bigint[];

create or replace function lexichord_data.own_principals() returns text[]
language plpgsql stable parallel safe security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
    if pg_has_role(caller, to_regrole('lexichord_server'), 'usage') then
        return nullif(current_setting('lexichord.principals', true), '')::text[];
    end if;
    return (select r.principals from tenant_role r where r.role_name = caller);
end $$;

-- A tenant's statistics are its own: what others store changes no score of its.
create or replace function lexichord_data.own_statistics(
    out chunk_count bigint, out token_count bigint, out document_count bigint, out card_token_count bigint, out average_length double precision)
language plpgsql stable parallel safe security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own bigint[] := lexichord_data.own_datasets();
begin
    select coalesce(sum(n.chunk_count), 0), coalesce(sum(n.token_count), 0), coalesce(sum(n.document_count), 0), coalesce(sum(n.card_token_count), 0)
    into chunk_count, token_count, document_count, card_token_count
    from (select c.chunk_count, c.token_count, c.document_count, c.card_token_count from corpus c where own is null
          union all
          select d.chunk_count, d.token_count, d.document_count, d.card_token_count from dataset_count d where d.dataset_id = any(own)
          union all
          select d.chunk_count, d.token_count, d.document_count, d.card_token_count from dataset_change d
          where own is null or d.dataset_id = any(own)) as n;
    average_length := (select c.average_length from corpus c);
end $$;

-- Of metadata the key "principals", a text or a list of texts.
create or replace function lexichord_data.fill_principals() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    given jsonb := new.metadata -> 'principals';
begin
    if jsonb_typeof(given) = 'string' then
        given := jsonb_build_array(given);
    elsif jsonb_typeof(given) <> 'array' or jsonb_path_exists(given, '$[*] ? (@.type() != "string")') then
        raise exception 'metadata: principals is a text or a list of texts, not %', given using errcode = 'invalid_parameter_value';
    end if;
    new.principals := case when given is not null then array(select jsonb_array_elements_text(given)) end;
    return new;
end $$;

-- Not of the others: each search asks them, also of roles that were given their rights one by one, and they tell whoever
-- asks what is its own.
revoke execute on function lexichord_data.own_statistics(), lexichord_data.fill_principals()
from public;
