/* Expands ROW_CLASS(name, params, args) for the rows of the classes that the includer defines, and nothing for the others. */
#ifndef ROW_START
#define ROW_START(name, params, args)
#endif
#ifndef ROW_LOOKUP
#define ROW_LOOKUP(name, params, args)
#endif
#ifndef ROW_ALLOC
#define ROW_ALLOC(name, params, args)
#endif
#ifndef ROW_FREE
#define ROW_FREE(name, params, args)
#endif
#ifndef ROW_POOL
#define ROW_POOL(name, params, args)
#endif
#ifndef ROW_SHARE
#define ROW_SHARE(name, params, args)
#endif
#ifndef ROW_HOST
#define ROW_HOST(name, params, args)
#endif
#ifndef ROW_OLD
#define ROW_OLD(name, params, args)
#endif
#ifndef ROW_CONTEXT
#define ROW_CONTEXT(name, params, args)
#endif
#ifndef ROW_INFO
#define ROW_INFO(name, params, args)
#endif
#ifndef ROW_LAUNCH
#define ROW_LAUNCH(name, params, args)
#endif
#ifndef ROW_GRAPHRUN
#define ROW_GRAPHRUN(name, params, args)
#endif
#ifndef ROW_GRAPH
#define ROW_GRAPH(name, params, args)
#endif
#ifndef ROW_CAPTURE
#define ROW_CAPTURE(name, params, args)
#endif
#ifndef ROW_SYNC
#define ROW_SYNC(name, params, args)
#endif
#ifndef ROW_STREAM
#define ROW_STREAM(name, params, args)
#endif
#ifndef ROW_SUSPEND
#define ROW_SUSPEND(name, params, args)
#endif
#define CU(name, base, since, flavor, class, params, args) ROW_##class(name, params, args)
#include "hooks.def"
