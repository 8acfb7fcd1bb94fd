// A Parse server, whose REST API signs users up. Its database is PostgreSQL.
import express from 'express';
import { ParseServer } from 'parse-server';

const parse = new ParseServer({
  databaseURI: process.env.DATABASE_URL, serverURL: `http://127.0.0.1:${process.env.PORT}/parse`,
  appId: 'museum', masterKey: 'museum', silent: true, logLevel: 'error',
  schema: { definitions: [{ className: '_User', fields: { nickname: { type: 'String' } }, classLevelPermissions: { create: { '*': true }, get: { '*': true } } }] },
});
await parse.start();
express().use('/parse', parse.app).listen(process.env.PORT, '127.0.0.1');
