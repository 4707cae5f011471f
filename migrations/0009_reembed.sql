-- Changes of the embedding space, one row each. Until one is dropped there is a column chunk.other_embedding:
-- the new vectors while they are filled in, after the swap the old ones.
create table lexichord_data.reembedding (
    id         bigint generated always as identity primary key,
    old_space  text not null,
    new_space  text not null,
    provider   text not null,                    -- of the vectors in other_embedding
    model      text not null,
    dimension  integer not null,
    state      text not null default 'filling' check (state in ('filling', 'swapped', 'dropped')),
    embedded   bigint not null default 0,        -- vectors filled in, the old space's after a swap as well
    comparison jsonb,                            -- a sample of queries, old against new; null = none yet
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),
    swapped_at timestamptz
);
create unique index reembedding_open on lexichord_data.reembedding ((true)) where state <> 'dropped';

-- What an engine's index takes is the engine's to say: lexichord.most_dimensions().
alter table lexichord_data.embedding_space
    drop constraint embedding_space_dimension_check,
    add constraint embedding_space_dimension_check check (dimension between 1 and 16000);

-- A vector that was filled in for other words is none. The trigger is there as long as the column.
create or replace function lexichord_data.forget_other_vector() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    new.other_embedding := null;
    return new;
end $$;
