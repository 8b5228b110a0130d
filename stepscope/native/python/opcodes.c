/* Instructions that may spend long in C: each version has its own names for them. */
#include "python/opcodes.h"

#include <opcode.h>

static int is_call(int opcode) {
    switch (opcode) {
    case CALL: case CALL_FUNCTION_EX:
#if PY_VERSION_HEX < 0x030c0000
    case CALL_ADAPTIVE:
    case PRECALL_BUILTIN_CLASS: case PRECALL_BUILTIN_FAST_WITH_KEYWORDS:
    case PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS: case PRECALL_NO_KW_BUILTIN_FAST:
    case PRECALL_NO_KW_BUILTIN_O: case PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST:
    case PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS: case PRECALL_NO_KW_METHOD_DESCRIPTOR_O:
    case PRECALL_NO_KW_STR_1: case PRECALL_NO_KW_TUPLE_1:
#else
    case INSTRUMENTED_CALL: case INSTRUMENTED_CALL_FUNCTION_EX:
    case CALL_BUILTIN_CLASS: case CALL_BUILTIN_FAST_WITH_KEYWORDS:
    case CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS: case CALL_INTRINSIC_1: case CALL_INTRINSIC_2:
#endif
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
    case CALL_NO_KW_BUILTIN_FAST: case CALL_NO_KW_BUILTIN_O:
    case CALL_NO_KW_METHOD_DESCRIPTOR_FAST: case CALL_NO_KW_METHOD_DESCRIPTOR_NOARGS:
    case CALL_NO_KW_METHOD_DESCRIPTOR_O: case CALL_NO_KW_STR_1: case CALL_NO_KW_TUPLE_1:
#endif
#if PY_VERSION_HEX >= 0x030d0000
    case CALL_KW: case INSTRUMENTED_CALL_KW: case CALL_NON_PY_GENERAL:
    case CALL_BUILTIN_FAST: case CALL_BUILTIN_O: case CALL_METHOD_DESCRIPTOR_FAST:
    case CALL_METHOD_DESCRIPTOR_NOARGS: case CALL_METHOD_DESCRIPTOR_O:
    case CALL_STR_1: case CALL_TUPLE_1:
#endif
#if PY_VERSION_HEX >= 0x030e0000
    case CALL_KW_NON_PY:
#endif
        return 1;
    default:
        return 0;
    }
}

static int is_operator(int opcode) {
    switch (opcode) {
    case BINARY_OP: case COMPARE_OP: case CONTAINS_OP: case UNARY_NEGATIVE: case UNARY_INVERT:
    case UNARY_NOT: case STORE_SUBSCR: case DELETE_SUBSCR:
#if PY_VERSION_HEX < 0x030e0000
    case BINARY_SUBSCR:
#endif
#if PY_VERSION_HEX < 0x030c0000
    case BINARY_OP_ADAPTIVE: case COMPARE_OP_ADAPTIVE: case BINARY_SUBSCR_ADAPTIVE:
    case STORE_SUBSCR_ADAPTIVE:
#else
    case BINARY_SLICE: case STORE_SLICE:
#endif
#if PY_VERSION_HEX >= 0x030d0000
    case TO_BOOL:
#endif
        return 1;
    default:
        return 0;
    }
}

/* Iterators, attributes and imports that C answers, and containers filled from other ones. */
static int asks_an_object(int opcode) {
    switch (opcode) {
    case FOR_ITER: case GET_ITER: case LOAD_ATTR: case STORE_ATTR: case IMPORT_NAME:
    case UNPACK_SEQUENCE: case LIST_EXTEND: case SET_UPDATE: case DICT_UPDATE:
#if PY_VERSION_HEX < 0x030c0000
    case LOAD_ATTR_ADAPTIVE: case STORE_ATTR_ADAPTIVE: case LOAD_METHOD: case LOAD_METHOD_ADAPTIVE:
    case UNPACK_SEQUENCE_ADAPTIVE:
#else
    case INSTRUMENTED_FOR_ITER:
#endif
#if PY_VERSION_HEX < 0x030e0000
    case BEFORE_WITH:
#endif
        return 1;
    default:
        return 0;
    }
}

int opcode_at(PyObject *code, int offset) {
    int opcode = (uint8_t)code_units(code)[offset];
#if HAS_MONITORING
    if (opcode == INSTRUMENTED_LINE && frames_are_public) return public_opcode(code, offset);
    if (opcode == INSTRUMENTED_LINE)
        return layout_replaced_opcode((PyCodeObject *)code, offset / (int)sizeof(_Py_CODEUNIT));
#endif
    return opcode;
}

int opcode_may_stay_in_c(PyObject *code, int offset) {
    int opcode = opcode_at(code, offset);
    return is_call(opcode) || is_operator(opcode) || asks_an_object(opcode);
}

/* The compiler would have inverted a constant itself. */
int opcode_is_tick(PyObject *code, int offset) {
    int before = offset - (int)sizeof(_Py_CODEUNIT);
    return PY_VERSION_HEX < 0x030c0000 && before >= 0 && opcode_at(code, offset) == UNARY_INVERT &&
           opcode_at(code, before) == LOAD_CONST;
}
