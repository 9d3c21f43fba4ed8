-- Why policy decided a step as it did, for whoever looks at it later: names of rules and of their conditions, nothing of the
-- call's arguments.
alter table steps add column policy jsonb;
