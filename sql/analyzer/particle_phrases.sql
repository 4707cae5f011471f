-- English: a short word and a particle (log in, set up, drop down) are written as one word as soon as they are a name: login. The
-- particles are a closed class, and stop words, so that a question for the one word could not find them side by side. A
-- question for "left in" asks for no such phrase: it is kept for those that write it as one.
create or replace function lexichord.particle_phrases(form text) returns text[]
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    -- A bound on the word's letters inside the pattern, or letters of all scripts, take twice the time.
    return array(select lower(m[1]) from regexp_matches(form, '([a-zA-Z]+ (?:in|out|on|off|up|down|over|back)\M)', 'g') as m
                 where strpos(m[1], ' ') between 3 and 6);
end $$;
comment on function lexichord.particle_phrases(text) is
'The short words of a text in normal form that a particle follows, with it: what others write as one word. Readers may call it.';
