"""raise, except, else and finally in each other, reraised, chained, and out of loops."""


def classify(x):
    try:
        value = 10 / x
    except ZeroDivisionError:
        return "zero"
    except TypeError as error:
        return type(error).__name__
    else:
        value += 1
    finally:
        x = None
    return value


def nested(n):
    seen = []
    for i in range(n):
        try:
            try:
                if i == 1:
                    raise KeyError(i)
                if i == 2:
                    raise ValueError(i)
                if i == 3:
                    continue
                if i == 5:
                    break
                seen.append(i)
            except KeyError:
                seen.append("key")
                raise IndexError from None
            finally:
                seen.append("inner")
        except IndexError:
            seen.append("index")
        except (ValueError, OSError) as e:
            seen.append(str(e))
        else:
            seen.append("else")
        finally:
            seen.append("outer")
    return seen


def chain():
    try:
        try:
            {}["missing"]
        except KeyError as error:
            raise RuntimeError("wrapped") from error
    except RuntimeError as error:
        return type(error.__cause__).__name__


def returns_in_finally():
    for _ in range(3):
        try:
            raise ValueError
        finally:
            return "finally wins"


def one_line(x):
    try: return 1 / x
    except ZeroDivisionError: return "zero"
    finally: x = 0


def multi_line_raise(flag):
    try:
        raise ValueError(
            "a",
            flag,
        )
    except (
        KeyError,
        ValueError,
    ):
        return flag


def groups():
    caught = []
    try:
        raise ExceptionGroup("both", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as group:
        caught.append(len(group.exceptions))
    except* (TypeError, KeyError):
        caught.append("others")
    else:
        caught.append("never")
    finally:
        caught.append("finally")
    return caught


def unhandled(depth):
    if depth == 0:
        raise LookupError("deep")
    try:
        unhandled(depth - 1)
    finally:
        depth = -1


def main():
    print(classify(5), classify(0), classify("a"))
    print(nested(7), chain(), returns_in_finally())
    print(one_line(2), one_line(0), multi_line_raise(True), groups())
    try:
        unhandled(4)
    except LookupError as error:
        print(error)


main()
