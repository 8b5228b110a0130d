"""asyncio: tasks, cancellation, time limits, generators, context variables, debug mode."""

import asyncio
import contextvars
import sys
import traceback

request = contextvars.ContextVar("request", default=0)


async def leaf(n):
    await asyncio.sleep(0)
    request.set(n)
    await asyncio.sleep(0)
    return request.get()


async def counting(n):
    try:
        for i in range(n):
            yield i
            await asyncio.sleep(0)
    finally:
        print("counting ends")


async def fails():
    await asyncio.sleep(0)
    raise KeyError("inside")


async def cancelled():
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("cancelled")
        raise


async def main():
    print(await asyncio.gather(*(leaf(i) for i in range(5))), request.get())
    print([i async for i in counting(3)], [await leaf(i) for i in range(2)])
    async for i in counting(10):
        if i == 2:
            break
    print(await asyncio.gather(fails(), leaf(1), return_exceptions=True))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(cancelled())
    except* KeyError as errors:
        traceback.print_exception(errors, file=sys.stdout)
    try:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
    except TimeoutError as error:
        print(repr(error))
    task = asyncio.create_task(cancelled(), name="to cancel")
    await asyncio.sleep(0)
    print([frame.f_lineno for frame in task.get_stack()], task.get_coro().cr_frame.f_lineno)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))
    print(await asyncio.to_thread(sum, range(10)), len(asyncio.all_tasks()))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('from a child')", stdout=asyncio.subprocess.PIPE
    )
    print((await process.communicate())[0], process.returncode)


asyncio.run(main())
asyncio.run(main(), debug=True)


async def never():
    pass


never()
asyncio.run(fails())
