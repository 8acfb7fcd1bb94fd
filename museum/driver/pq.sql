set password_encryption = 'md5'; -- lib/pq knows no other before v1.1
create role museum login password 'museum';
grant all on schema public to museum;
