create or replace function lexichord.default_depth() returns integer
language sql immutable parallel safe
return 100;
comment on function lexichord.default_depth() is 'How many candidates each channel of a search gives by default, and at least. Readers may call it.';
