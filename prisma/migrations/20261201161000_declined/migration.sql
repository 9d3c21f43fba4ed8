-- A tool may answer that it has not done what was asked for: a time is taken. The answer is sealed, so a page that shows in green
-- what was carried out has to know it beside it.
alter table steps add column declined boolean not null default false;
