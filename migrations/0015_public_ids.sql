-- What the texts of ids outside the database are made with. A dump has it, so that they stay what they are.
alter table lexichord_data.configuration add column id_secret uuid not null default gen_random_uuid();
